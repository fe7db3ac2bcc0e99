"""The listener: what a request passes through, each setting for a reason that was measured.

Response trailers are asked for, and nothing else of the response, because that keeps the stream to
the admission worker open until the request has ended: the stream's life is the slot's life. When
admission is away requests go on without a ticket, and the table of routes stops them.
"""

from controlplane.domain.gateway import GatewayPlan
from controlplane.render.envoy.answers import own_answers
from controlplane.render.envoy.names import (
    ADMISSION,
    API_KEY,
    CLUSTER,
    DEADLINE,
    METADATA,
    OBEYED,
    PRIORITY,
    PROBE,
    REQUEST_TYPE,
    TICKET,
)
from controlplane.render.envoy.protos import Plain, address, typed
from controlplane.render.envoy.routes import BODY_READER, BUFFER

AFTER_WAIT_S = 5.0  # admission answers by itself before Envoy gives it up
BUFFER_SPARE = 1 << 16
READ = (":path", ":method", ":authority", "authorization", "content-length", API_KEY)
READ_TOO = (PRIORITY, REQUEST_TYPE, DEADLINE)
_HCM = "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_MUTATION = "extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"


def listener(plan: GatewayPlan, at: tuple[str, int], routes: Plain) -> Plain:
    """Give the listener; `routes` says where its table is, or is the table."""
    policy = plan.policy
    manager = typed(
        _HCM,
        stat_prefix="models",
        codec_type="AUTO",
        **routes,
        use_remote_address=True,
        server_header_transformation="PASS_THROUGH",
        generate_request_id=False,
        normalize_path=True,
        merge_slashes=True,
        path_with_escaped_slashes_action="REJECT_REQUEST",
        max_request_headers_kb=policy.longest_headers_kib,
        common_http_protocol_options={
            "max_headers_count": policy.most_headers,
            "idle_timeout": "3600s",
            "headers_with_underscores_action": "REJECT_REQUEST",
        },
        http_protocol_options={"accept_http_10": True},
        request_headers_timeout="30s",
        stream_idle_timeout="0s",
        delayed_close_timeout="1s",
        early_header_mutation_extensions=[
            {
                "name": "envoy.http.early_header_mutation.header_mutation",
                "typed_config": typed(
                    _MUTATION,
                    mutations=[{"remove": name} for name in (TICKET, CLUSTER, PROBE, *OBEYED)],
                ),
            }
        ],
        http_filters=[whole_bodies(plan), body_reader(), admission(plan), router()],
        access_log=[endings()],
        local_reply_config=own_answers(),
    )
    return {
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "models",
        "address": address(*at),
        "per_connection_buffer_limit_bytes": policy.longest_body + BUFFER_SPARE,
        "filter_chains": [
            {
                "filters": [
                    {
                        "name": "envoy.filters.network.http_connection_manager",
                        "typed_config": manager,
                    }
                ]
            }
        ],
    }


def whole_bodies(plan: GatewayPlan) -> Plain:
    """Read a body whose length nobody said, for prompts, queues and limits are judged by it.

    Routes switch it off for all other requests: those are judged before their body is read.
    """
    return {
        "name": BUFFER,
        "typed_config": typed(
            "extensions.filters.http.buffer.v3.Buffer", max_request_bytes=plan.policy.longest_body
        ),
    }


def body_reader() -> Plain:
    """Read the model's name and the wished length out of an OpenAI body, and no more."""

    def rule(key: str, kind: str) -> Plain:
        there = {"metadata_namespace": METADATA, "key": key, "type": kind}
        return {"selectors": [{"key": key}], "on_present": there}

    rules = [
        rule("model", "STRING"),
        rule("max_tokens", "NUMBER"),
        rule("max_completion_tokens", "NUMBER"),
    ]
    return {
        "name": BODY_READER,
        "typed_config": typed(
            "extensions.filters.http.json_to_metadata.v3.JsonToMetadata",
            request_rules={"rules": rules},
        ),
    }


def admission(plan: GatewayPlan) -> Plain:
    """Ask the admission worker, and keep its stream to the end of the request."""
    wait_s = plan.policy.longest_wait_s + AFTER_WAIT_S
    return {
        "name": "envoy.filters.http.ext_proc",
        "typed_config": typed(
            "extensions.filters.http.ext_proc.v3.ExternalProcessor",
            grpc_service={"envoy_grpc": {"cluster_name": ADMISSION}, "timeout": "0s"},
            failure_mode_allow=True,
            status_on_error={"code": "ServiceUnavailable"},
            processing_mode={
                "request_header_mode": "SEND",
                "response_header_mode": "SKIP",
                "request_body_mode": "NONE",
                "response_body_mode": "NONE",
                "request_trailer_mode": "SKIP",
                "response_trailer_mode": "SEND",
            },
            message_timeout=f"{wait_s:.3f}s",
            mutation_rules={"allow_envoy": True, "disallow_is_error": False},
            forward_rules={
                "allowed_headers": {"patterns": [{"exact": n} for n in (*READ, *READ_TOO)]}
            },
            metadata_options={"forwarding_namespaces": {"untyped": [METADATA]}},
        ),
    }


def router() -> Plain:
    """End the chain."""
    return {
        "name": "envoy.filters.http.router",
        "typed_config": typed(
            "extensions.filters.http.router.v3.Router", suppress_envoy_headers=True
        ),
    }


def endings() -> Plain:
    """Tell the admission workers how requests that reached an engine ended, for the breakers."""
    return {
        "name": "envoy.access_loggers.http_grpc",
        "filter": {"not_health_check_filter": {}},
        "typed_config": typed(
            "extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig",
            common_config={
                "log_name": "endings",
                "transport_api_version": "V3",
                "grpc_service": {"envoy_grpc": {"cluster_name": ADMISSION}},
                "buffer_flush_interval": "0.200s",
            },
            additional_request_headers_to_log=[PROBE],
            additional_response_headers_to_log=["retry-after"],
        ),
    }
