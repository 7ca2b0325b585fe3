package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// anyKey stands for all keys that a map may have. No struct has a field of that name.
const anyKey = "*"

// seeKey refers to the fixture that shows the value of this field, as `Kind` or `Kind.path`.
const seeKey = "$see"

// filler sets every field of an object, at any depth, to a value other than the zero value. A string is its path in the JSON, or the first
// constant of its type if there are any. A number is unique in the object. Lists and maps have one entry.
type filler struct {
	// enums are the constants of named string types, by import path and name of the type.
	enums map[string][]string
	// elsewhere maps types that are not filled, because another fixture shows them, to their place there.
	elsewhere map[reflect.Type]string
	// raw is the kind that a field of any type holds, by path of the field.
	raw map[string]string
	// left maps the paths of fields that were not filled to the place that shows them.
	left map[string]string

	count int
	// under are the types that are being filled: a type that contains itself ends there.
	under map[reflect.Type]bool
}

// instant is a time in UTC with microseconds, so that it shows the precision of a field.
var instant = time.Date(2026, time.November, 22, 10, 30, 0, 123456000, time.UTC)

// next returns a time that no other field has.
func (f *filler) next() time.Time {
	f.count++
	return instant.Add(time.Duration(f.count) * time.Minute)
}

// special fills types whose JSON differs from their Go fields. It returns false for other types.
func (f *filler) special(value reflect.Value, path string) bool {
	switch field := value.Addr().Interface().(type) {
	case *metav1.Time:
		*field = metav1.NewTime(f.next().Truncate(time.Second))
	case *metav1.MicroTime:
		*field = metav1.NewMicroTime(f.next())
	case *metav1.Duration:
		f.count++
		field.Duration = time.Duration(f.count) * time.Second
	case *resource.Quantity:
		f.count++
		*field = *resource.NewQuantity(int64(f.count), resource.DecimalSI)
	case *intstr.IntOrString:
		*field = intstr.FromString("25%")
	case *metav1.FieldsV1:
		field.Raw = ownedFields()
	case *runtime.RawExtension:
		field.Raw = f.content(path)
	case *apiextensionsv1.JSON:
		field.Raw = f.content(path)
	default:
		return false
	}
	return true
}

// content returns the JSON of a field of any type.
func (f *filler) content(path string) []byte {
	if other, ok := f.raw[path]; ok {
		return fmt.Appendf(nil, `{%q: %q}`, seeKey, other)
	}
	return fmt.Appendf(nil, `{%q: %q}`, anyKey, path)
}

// ownedFields returns managed fields as an API server records them for a client that has written spec.replicas, spec.renewTime and a time of a condition.
func ownedFields() []byte {
	condition := fieldpath.KeyByFields("type", "ControlPlaneHealthy")
	set := fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("spec", "renewTime"),
		fieldpath.MakePathOrDie("status", "conditions", condition, "lastTransitionTime"),
	)
	text, err := set.ToJSON()
	if err != nil {
		panic(err)
	}
	return text
}

func (f *filler) fill(value reflect.Value, path string) {
	t := value.Type()
	if where, ok := f.elsewhere[t]; ok {
		f.left[path] = where
		return
	}
	if t.Kind() != reflect.Pointer && f.special(value, path) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if f.under[t.Elem()] {
			return
		}
		value.Set(reflect.New(t.Elem()))
		f.fill(value.Elem(), path)
	case reflect.Struct:
		f.fillStruct(value, path)
	case reflect.Slice:
		f.fillSlice(value, path)
	case reflect.Map:
		key, entry := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		key.SetString(anyKey)
		f.fill(entry, join(path, anyKey))
		value.Set(reflect.MakeMap(t))
		value.SetMapIndex(key, entry)
	case reflect.String:
		value.SetString(f.text(t, path))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		f.count++
		value.SetInt(int64(f.count))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.count++
		value.SetUint(uint64(f.count))
	case reflect.Float64:
		f.count++
		value.SetFloat(float64(f.count) + 0.5)
	case reflect.Interface:
		// A runtime.Object, in types that also have another field for it; the program reads none.
	default:
		panic(fmt.Sprintf("%s: do not know how to fill a %s", path, t))
	}
}

func (f *filler) fillStruct(value reflect.Value, path string) {
	t := value.Type()
	if f.under[t] {
		return
	}
	f.under[t] = true
	defer delete(f.under, t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		at := join(path, name)
		if name == "" && (field.Anonymous || strings.Contains(options, "inline")) {
			at = path
		}
		f.fill(value.Field(i), at)
	}
}

func (f *filler) fillSlice(value reflect.Value, path string) {
	t := value.Type()
	if t.Elem().Kind() == reflect.Uint8 {
		value.SetBytes([]byte(path))
		return
	}
	if f.under[t.Elem()] {
		return
	}
	value.Set(reflect.MakeSlice(t, 1, 1))
	f.fill(value.Index(0), path+"[]")
}

func (f *filler) text(t reflect.Type, path string) string {
	if constants := f.enums[t.PkgPath()+"."+t.Name()]; len(constants) > 0 {
		return constants[0]
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
