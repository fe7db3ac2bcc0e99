"""Whether what stands in the cluster is what the catalogue says, and what is done about it."""
