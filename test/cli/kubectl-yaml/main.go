// Reads a JSON list of texts and writes the value or the error of kubectl's YAML reader for each text.
package main

import (
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type reading struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	readings := make([]reading, len(texts))
	for index, text := range texts {
		value, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			readings[index].Error = err.Error()
		} else {
			readings[index].Value = value
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(readings); err != nil {
		panic(err)
	}
}
