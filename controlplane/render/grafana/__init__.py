"""A dashboard for Grafana, as plain data: every figure of ours worth a look, on one page."""

from controlplane.render.grafana.dashboard import dashboard

__all__ = ["dashboard"]
