"""The ScaledObjects of two field reports as they were written, numbers unquoted; and an HPA."""

SEED_001 = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: sdxl, namespace: inference}
spec:
  scaleTargetRef: {name: sdxl}
  minReplicaCount: 2
  maxReplicaCount: 10
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        metricName: model_queue_depth
        query: sum(rate(model_queue_depth{model="sdxl"}[1m]))
        threshold: "5"
  advanced:
    scalingStrategy: {customScalingQueueLength: 5}
    horizontalPodAutoscalerConfig:
      behavior:
        scaleDown: {stabilizationWindowSeconds: 120}
"""
SEED_004 = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: qwen-7b, namespace: inference}
spec:
  scaleTargetRef: {name: qwen-7b}
  minReplicaCount: 2
  maxReplicaCount: 10
  cooldownPeriod: 300
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        query: avg(DCGM_FI_DEV_GPU_UTIL{namespace="inference"})
        threshold: 75
        activationThreshold: 80
    - type: prometheus
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        query: sum(vllm_num_requests_waiting)
        threshold: 10
    - type: prometheus
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        query: histogram_quantile(0.99, rate(vllm_request_latency_seconds_bucket[2m]))
        threshold: 2
"""
HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: Pods
      pods:
        metric: {name: vllm_num_requests_waiting}
        target: {type: AverageValue, averageValue: 2500m}
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
  behavior:
    scaleUp: {policies: [{type: Percent, value: 50, periodSeconds: 30}]}
    scaleDown:
      stabilizationWindowSeconds: 60
      policies: [{type: Pods, value: 1, periodSeconds: 60}]
"""
