"""The autoscalers people run today, with their own documented defaults, to be compared with ours.

They see what they would see in reality (pod metrics, a queue's length), drive plain Deployments
and get the scenario's bounds. Their arithmetic stands in files of its own, free of any world.
"""
