"""The Nu Html Checker, which knows what may be where in a page; fetched once, and not needed by nestsync itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from nestsync.jars import JarSet, fetch, java
from tests.engines.jars import jars_of

CHECKER = JarSet(
    "html-checker-20.7.2",
    (
        *jars_of("nu.validator", "20.7.2", "validator"),
        *jars_of("nu.validator", "1.4.16", "htmlparser"),
        *jars_of("nu.validator", "20200702VNU", "jing"),
        *jars_of("nu.validator", "1.0.8", "cssvalidator"),
        *jars_of("nu.validator", "1.2", "langdetect"),
        *jars_of("com.shapesecurity", "2.7.2", "salvation"),
        *jars_of("com.ibm.icu", "58.2", "icu4j"),
        *jars_of("nu.validator", "0.1.3", "galimatias"),
        *jars_of("net.sf.saxon", "9.6.0-4", "Saxon-HE"),
        *jars_of("isorelax", "20030108", "isorelax"),
        *jars_of("log4j", "1.2.17", "log4j"),
        *jars_of("commons-codec", "1.10", "commons-codec"),
        *jars_of("commons-io", "2.4", "commons-io"),
        *jars_of("commons-logging", "1.2", "commons-logging"),
        *jars_of("org.apache.httpcomponents", "4.4", "httpclient", "httpcore"),
        *jars_of("javax.servlet", "3.1.0", "javax.servlet-api"),
        *jars_of(
            "org.eclipse.jetty",
            "9.4.18.v20190429",
            "jetty-http",
            "jetty-io",
            "jetty-server",
            "jetty-util",
            "jetty-util-ajax",
        ),
    ),
)


def complaints(pages: list[Path]) -> list[str]:
    """What is wrong with `pages`: errors and warnings, each with its page and line. Styles are not looked at.

    The checker is older than the styles of today, and complains of those that it does not know.
    """
    classpath = ":".join(map(str, fetch(CHECKER)))
    command = [str(java()), "-cp", classpath, "nu.validator.client.SimpleCommandLineValidator", "--format", "json"]
    done = subprocess.run([*command, *map(str, pages)], capture_output=True, text=True, check=False, timeout=120)
    said = json.loads(done.stderr[done.stderr.index('{"messages"') :])["messages"]
    return [
        f"{Path(each['url']).name}:{each.get('lastLine')}: {each['message']}"
        for each in said
        if not each["message"].startswith("CSS:")
    ]
