"""Redis or Valkey: what several gateways share."""
