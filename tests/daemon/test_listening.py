"""Where people are told to look for the pages."""

from socket import gethostname

import pytest

from controlplane.daemon.listening import for_people


@pytest.mark.parametrize(
    ("bound", "hosts", "told"),
    [
        ("http://127.0.0.1:8080", "", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080", "fleet.example.com", "http://127.0.0.1:8080"),
        ("http://10.1.2.3:8080", "", "http://10.1.2.3:8080"),
        ("http://0.0.0.0:8080", " fleet.example.com, b", "http://fleet.example.com:8080"),
        ("http://[::]:8080", "fleet.example.com", "http://fleet.example.com:8080"),
        ("http://0.0.0.0:8080", "", f"http://{gethostname()}:8080"),
        ("http://[::]:8080", " , ", f"http://{gethostname()}:8080"),
    ],
)
def test_bound_everywhere_is_no_address_to_be_sent(bound: str, hosts: str, told: str) -> None:
    assert for_people(bound, hosts) == told
