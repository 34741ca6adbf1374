// The files of api/data, as they are, in the read-only section of the binary.
.macro embed symbol, file
  .global \symbol
  .global \symbol\()_end
  .balign 16
\symbol:
  .incbin "\file"
\symbol\()_end:
  .byte 0
.endm

.section .rodata
embed muster_data_k8s_schema, "k8s-schema.json"
embed muster_data_discovery, "discovery.json"
embed muster_data_table_columns, "table-columns.json"
embed muster_data_jobset, "jobset.json"
embed muster_data_kueue, "kueue.json"
embed muster_data_descriptions, "descriptions.json"

.section .note.GNU-stack, "", %progbits
