"""The nouns: what a fleet is made of and what is said about it. Nothing here acts or decides.

Two kinds of values live here. What people *set* (catalogue, policies) is a frozen dataclass with
`annotated-types` bounds, so that `controlplane.settings` can validate it. What is *observed,
decided and stored* is a frozen `msgspec.Struct`, because those are tagged unions, are built
thousands of times a second and go to the journal unchanged.
"""
