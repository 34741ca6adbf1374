"""A training loop without a model: every rank adds its number, all see the sum."""
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: the sum is {total.item():g}", flush=True)
dist.destroy_process_group()
