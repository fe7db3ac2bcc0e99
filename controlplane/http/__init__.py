"""What people and scripts see: pages, REST, live feed."""
