// Carries the one precompiled header that all tests reuse (tools/cmake/CairnTargets.cmake).
int main() { return 0; }
