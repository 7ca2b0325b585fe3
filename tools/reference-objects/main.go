// Command reference-objects prints the objects that dwd reads and writes, from upstream's own Go types, with every field set. It also prints the
// texts in upstream's code. See README.md.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// reference is a line of objects.jsonl.
type reference struct {
	Name   string `json:"name"`
	Object any    `json:"object"`
	// Protobuf is the object in the protobuf format of the API server.
	Protobuf []byte `json:"protobuf,omitempty"`
}

func main() {
	into := flag.String("into", "../../test/reference-objects/fixtures", "directory of the fixtures")
	flag.Parse()
	texts, enums, err := collectTexts(versions())
	if err != nil {
		log.Fatal(err)
	}
	generated := "by tools/reference-objects, do not edit: " + describe(versions())
	texts.Generated = generated
	write(*into, "texts.json", "  ", texts)
	lines := []any{map[string]string{"generated": generated}}
	for _, kind := range kinds {
		object, err := print(kind, enums)
		if err != nil {
			log.Fatalf("%s: %v", kind.name, err)
		}
		line := reference{Name: kind.name, Object: object}
		if kind.protobuf {
			line.Protobuf, err = marshal(kind.object.(runtime.Object))
			if err != nil {
				log.Fatalf("%s: %v", kind.name, err)
			}
		}
		lines = append(lines, line)
	}
	write(*into, "objects.jsonl", "", lines...)
}

// versions returns the versions of the modules that this program is built with, by module path.
func versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without modules")
	}
	found := map[string]string{}
	for _, module := range info.Deps {
		found[module.Path] = module.Version
	}
	return found
}

func describe(versions map[string]string) string {
	var parts []string
	for _, source := range sources {
		if version, ok := versions[source.module]; ok {
			parts = append(parts, source.module+" "+version)
		}
	}
	return strings.Join(parts, ", ")
}

// texts are the texts in upstream's code, by import path.
type texts struct {
	Generated string `json:"generated"`
	// Constants are the values of string constants, by import path and name.
	Constants map[string]map[string]string `json:"constants"`
	Words     map[string][]string          `json:"words"`
}

// collectTexts returns the texts, and the constants of named types by import path and name of the type.
func collectTexts(versions map[string]string) (texts, map[string][]string, error) {
	found, enums := texts{Constants: map[string]map[string]string{}, Words: map[string][]string{}}, map[string][]string{}
	for _, source := range sources {
		dir, err := moduleDir(source.module, versions[cmp.Or(source.like, source.module)])
		if err != nil {
			return found, nil, err
		}
		for _, sub := range source.constants {
			importPath := source.module + "/" + sub
			constants, err := readConstants(filepath.Join(dir, sub), importPath)
			if err != nil {
				return found, nil, err
			}
			found.Constants[importPath] = map[string]string{}
			for _, each := range constants {
				found.Constants[importPath][each.name] = each.value
				if each.of != "" && each.value != "" {
					enums[importPath+"."+each.of] = append(enums[importPath+"."+each.of], each.value)
				}
			}
		}
		for _, sub := range source.words {
			if found.Words[source.module+"/"+sub], err = readWords(filepath.Join(dir, sub)); err != nil {
				return found, nil, err
			}
		}
	}
	return found, enums, nil
}

// print fills the object and returns its JSON.
func print(kind kind, enums map[string][]string) (any, error) {
	fill := filler{
		enums:     enums,
		raw:       kind.raw,
		elsewhere: map[reflect.Type]string{reflect.TypeFor[corev1.PodSpec](): "Pod.spec"},
		left:      map[string]string{},
		under:     map[reflect.Type]bool{},
	}
	if kind.name == "Pod" {
		clear(fill.elsewhere)
	}
	fill.fill(reflect.ValueOf(kind.object).Elem(), "")
	if object, ok := kind.object.(runtime.Object); ok {
		object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(kind.apiVersion, kind.name))
	}
	text, err := json.Marshal(kind.object)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(fill.left)) {
		keys := strings.Split(path, ".")
		parent := object
		for _, key := range keys[:len(keys)-1] {
			parent = parent[key].(map[string]any)
		}
		parent[keys[len(keys)-1]] = map[string]any{seeKey: fill.left[path]}
	}
	return object, nil
}

// marshal returns the object in the protobuf format of the API server.
func marshal(object runtime.Object) ([]byte, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	var written bytes.Buffer
	err := protobuf.NewSerializer(scheme, scheme).Encode(object, &written)
	return written.Bytes(), err
}

// write writes a file of values, each on a line if there is no indent.
func write(dir, name, indent string, values ...any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	for _, value := range values {
		if err := encoder.Encode(value); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
