// Carries the libraries' precompiled header of sanitizer builds (CairnTargets.cmake).
