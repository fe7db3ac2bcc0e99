"""`python -m controlplane` is the `controlplane` command."""

from controlplane.cli import main

if __name__ == "__main__":
    main()
