#!/usr/bin/env python3
"""Makes this folder's vectors from botocore, run by hand: the cases are ours, the answers are botocore's.

usage: python3 -m venv VENV; VENV/bin/pip install -r tests/golden/sigv4/requirements.txt
       VENV/bin/python tests/golden/sigv4/make.py     (then: tests/golden/record tests/golden/sigv4)

The forms are those of AWS's own suites, so that the tests that read these read those as well:
signing/ as awslabs/aws-c-auth's, endpoints/ as botocore's, profiles/ and credchain/ as the Rust SDK's.
Nothing leaves this machine: what botocore would send is answered here, and recorded.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import chain  # noqa: E402
import configured  # noqa: E402
import signing  # noqa: E402


def main():
    for name in list(os.environ):
        if name.startswith("AWS_"):
            del os.environ[name]
    for folder in ("signing", "endpoints", "profiles", "credchain"):
        shutil.rmtree(os.path.join(HERE, folder), ignore_errors=True)
    for part in (signing, configured, chain):
        print(part.make(HERE))


main()
