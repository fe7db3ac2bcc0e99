"""What others are told who carry decisions out, or page people: KEDA, HPAs, Alertmanager."""
