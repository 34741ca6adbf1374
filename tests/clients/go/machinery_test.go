package clients

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var jobSets = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}

func jobSet(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"replicatedJobs": []any{map[string]any{"name": "workers", "replicas": int64(2),
			"template": map[string]any{"spec": map[string]any{"parallelism": int64(1), "completions": int64(1),
				"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
					"containers": []any{map[string]any{"name": "main", "image": "process", "command": []any{"true"}}}}}}}}}}}}
}

// An informer's store must come to hold exactly what the server holds. Since 1.35 informers begin with a streamed list
// (sendInitialEvents), which ends with a marked bookmark.
func TestInformerFollows(t *testing.T) {
	client := protobufClient(t)
	space := namespace(t, client)
	maps := client.CoreV1().ConfigMaps(space)
	for i := range 10 {
		_, err := maps.Create(t.Context(), configMap(fmt.Sprintf("early-%d", i), nil), metav1.CreateOptions{})
		must(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(space))
	defer func() { cancel(); factory.Shutdown() }()
	lister := factory.Core().V1().ConfigMaps().Lister()
	deleted := make(chan string, 100)
	_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(object any) { deleted <- object.(*corev1.ConfigMap).Name }})
	must(t, err)
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("%v did not synchronize", kind)
		}
	}
	if _, err := lister.ConfigMaps(space).Get("early-9"); err != nil {
		t.Error(err)
	}
	_, err = maps.Create(t.Context(), configMap("late", nil), metav1.CreateOptions{})
	must(t, err)
	must(t, maps.Delete(t.Context(), "early-0", metav1.DeleteOptions{}))
	if name := <-deleted; name != "early-0" {
		t.Errorf("deleted %s", name)
	}
	eventually(t, "the informer to hold what the server holds", func() bool {
		held, err := lister.ConfigMaps(space).List(labels.Everything())
		must(t, err)
		served, err := maps.List(t.Context(), metav1.ListOptions{})
		must(t, err)
		return len(held) == len(served.Items)
	})
}

func TestDiscoveryFindsEveryKind(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	must(t, err)
	groups, err := restmapper.GetAPIGroupResources(client)
	must(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "Pod"}: "pods", {Group: "batch", Kind: "Job"}: "jobs", {Group: "jobset.x-k8s.io", Kind: "JobSet"}: "jobsets",
		{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}: "clusterqueues", {Group: "coordination.k8s.io", Kind: "Lease"}: "leases",
	} {
		mapping, err := mapper.RESTMapping(kind)
		must(t, err)
		if mapping.Resource.Resource != want {
			t.Errorf("%v is %v", kind, mapping.Resource)
		}
	}
	version, err := client.ServerVersion()
	must(t, err)
	if version.Major != "1" || version.Minor != "36" {
		t.Errorf("version %v", version)
	}
}

func TestDynamicClientRunsJobSets(t *testing.T) {
	typed := protobufClient(t)
	space := namespace(t, typed)
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	sets := client.Resource(jobSets).Namespace(space)

	ctx, cancel := context.WithCancel(t.Context())
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, space, nil)
	defer func() { cancel(); factory.Shutdown() }()
	informer := factory.ForResource(jobSets)
	informer.Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	_, err = sets.Create(t.Context(), jobSet("js"), metav1.CreateOptions{})
	must(t, err)
	eventually(t, "the informer to see the JobSet", func() bool {
		_, err := informer.Lister().ByNamespace(space).Get("js")
		return err == nil
	})
	eventually(t, "a Job for each replica", func() bool {
		jobs, err := typed.BatchV1().Jobs(space).List(t.Context(), metav1.ListOptions{LabelSelector: "jobset.sigs.k8s.io/jobset-name=js"})
		must(t, err)
		return len(jobs.Items) == 2
	})
	patched, err := sets.Patch(t.Context(), "js", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	must(t, err)
	if patched.GetLabels()["x"] != "y" {
		t.Errorf("labels %v", patched.GetLabels())
	}
	wish := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
		"metadata": map[string]any{"name": "js", "annotations": map[string]any{"note": "applied"}}}}
	applied, err := sets.Apply(t.Context(), "js", wish, metav1.ApplyOptions{FieldManager: "clients"})
	must(t, err)
	if applied.GetAnnotations()["note"] != "applied" {
		t.Errorf("annotations %v", applied.GetAnnotations())
	}
	must(t, sets.Delete(t.Context(), "js", metav1.DeleteOptions{}))
	eventually(t, "the JobSet to be gone", func() bool {
		_, err := sets.Get(t.Context(), "js", metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
}

func TestOneLeaderAtATime(t *testing.T) {
	client := protobufClient(t)
	space := namespace(t, client)
	elect := func(ctx context.Context, name string, led chan<- string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "lock", Namespace: space}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
			LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- name }, OnStoppedLeading: func() {}},
		})
	}
	led := make(chan string, 2)
	first, abdicate := context.WithCancel(t.Context())
	go elect(first, "first", led)
	if name := <-led; name != "first" {
		t.Fatalf("%s leads", name)
	}
	go elect(t.Context(), "second", led)
	select {
	case name := <-led:
		t.Fatalf("%s leads beside the first", name)
	case <-time.After(time.Second):
	}
	abdicate()
	if name := <-led; name != "second" {
		t.Fatalf("%s leads", name)
	}
	lease, err := client.CoordinationV1().Leases(space).Get(t.Context(), "lock", metav1.GetOptions{})
	must(t, err)
	if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		t.Errorf("lease %v", lease.Spec)
	}
}
