// Package ext has the types that extensions of Traefik add to its configuration. They are empty, as in an unextended Traefik.
package ext

// HTTP is embedded in the HTTP section of the configuration.
type HTTP struct{}

// Router is embedded in every router.
type Router struct{}

// DeepCopyInto is called by Traefik's generated code.
func (in *HTTP) DeepCopyInto(out *HTTP) { *out = *in }

// DeepCopyInto is called by Traefik's generated code.
func (in *Router) DeepCopyInto(out *Router) { *out = *in }
