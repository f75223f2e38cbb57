"""Why a model is compiled as it is: what was decided, among what, and what each would take."""
