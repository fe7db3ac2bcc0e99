"""A KEDA before 2.17: it knows the whole numbers, and of the floats beside them nothing."""

from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClassesForFiles
from grpc import aio

from controlplane.adapters.keda.generated import externalscaler_pb2 as wire
from controlplane.adapters.keda.scaler import NAME


def _messages() -> dict[str, Any]:
    """Give the messages by name, without the fields that came with 2.17."""
    file = FileDescriptorProto()
    wire.DESCRIPTOR.CopyToProto(file)
    for message in file.message_type:
        known = [field for field in message.field if not field.name.endswith("Float")]
        del message.field[:]
        message.field.extend(known)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    made = GetMessageClassesForFiles([file.name], pool)
    return {name.rpartition(".")[2]: kind for name, kind in made.items()}


class OlderKeda:
    """Asks for a metric and what it should be at."""

    def __init__(self, channel: aio.Channel) -> None:
        self._channel = channel
        self._known = _messages()

    async def target(self, **metadata: str) -> int:
        spec = await self._ask("GetMetricSpec", self._reference(metadata), "GetMetricSpecResponse")
        (of,) = spec.metricSpecs
        assert [field.name for field in of.DESCRIPTOR.fields] == ["metricName", "targetSize"]
        return int(of.targetSize)

    async def value(self, **metadata: str) -> int:
        name = metadata.get("metric", "target")
        request = self._known["GetMetricsRequest"](
            scaledObjectRef=self._reference(metadata), metricName=name
        )
        (of,) = (await self._ask("GetMetrics", request, "GetMetricsResponse")).metricValues
        assert of.metricName == name
        return int(of.metricValue)

    def _reference(self, metadata: dict[str, str]) -> Any:
        return self._known["ScaledObjectRef"](
            name="chat", namespace="inference", scalerMetadata={"model": "chat", **metadata}
        )

    async def _ask(self, method: str, request: Any, answer: str) -> Any:
        call = self._channel.unary_unary(
            f"/{NAME}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=self._known[answer].FromString,
        )
        return await call(request, timeout=3)
