"""The gateway as Envoy's configuration: plain data for its bootstrap and its xDS files."""

from controlplane.render.envoy.faults import plan_faults
from controlplane.render.envoy.files import Site, bootstrap, whole, xds_files

__all__ = ["Site", "bootstrap", "plan_faults", "whole", "xds_files"]
