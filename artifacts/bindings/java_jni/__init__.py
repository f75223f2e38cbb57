"""Java before 22: the class of the package `java`, on JNI."""

from dataclasses import replace

from ..java import LANGUAGE as JAVA
from ..language import UNIX

LANGUAGE = replace(
    JAVA,
    name="java-jni",
    title="Java (JNI)",
    files={
        "java/model.java": "src/{module}/{type}.java",
        "native.java": "src/{module}/Native.java",
        "native.c": "native.c",
        "java/example.java": "src/Example.java",
        "Makefile": "Makefile",
    },
    systems=UNIX,
    needs="a JDK, from 17 on, a C compiler and make; JAVA_HOME says where the JDK is",
    build="make",
    run="java -cp classes Example",
)
