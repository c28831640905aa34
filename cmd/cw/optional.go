package main

import "strconv"

// optionalText is a flag that may be missing, which is another thing than an
// empty one.
type optionalText struct{ value *string }

// Set implements pflag.Value.
func (o *optionalText) Set(s string) error {
	o.value = &s
	return nil
}

// String implements pflag.Value.
func (o *optionalText) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

// Type implements pflag.Value.
func (o *optionalText) Type() string { return "string" }

// optionalNumber is a number that may be missing, which is another thing than 0.
type optionalNumber struct{ value *int }

// Set implements pflag.Value.
func (o *optionalNumber) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return err
	}
	o.value = &n
	return nil
}

// String implements pflag.Value.
func (o *optionalNumber) String() string {
	if o.value == nil {
		return ""
	}
	return strconv.Itoa(*o.value)
}

// Type implements pflag.Value.
func (o *optionalNumber) Type() string { return "int" }

// typed gives an optional text as a text of another type.
func typed[T ~string](o optionalText) *T {
	if o.value == nil {
		return nil
	}
	v := T(*o.value)
	return &v
}

// ids makes ids of words.
func ids[T ~string](words []string) []T {
	out := make([]T, len(words))
	for i, w := range words {
		out[i] = T(w)
	}
	return out
}

// listFlag gives what a flag with several values and the flag that empties the
// list say together: nil when neither was given.
func listFlag[T ~string](words []string, none bool) *[]T {
	if len(words) == 0 && !none {
		return nil
	}
	list := ids[T](words)
	return &list
}
