"""gRPC over HTTP/2, as far as Envoy's client needs it (RFC 9113, RFC 7541), on asyncio.

`frames` is the bytes on the wire, `blocks` header blocks, `framing` gRPC's messages, `stream` one
call, `connection` all of one peer without any I/O, `server` the sockets.
"""
