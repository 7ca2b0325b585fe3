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

// anyKey stands for whatever keys a map may have. A struct never has a field of that name.
const anyKey = "*"

// seeKey names the object that stands in this place, as `Kind` or `Kind.path`.
const seeKey = "$see"

// filler sets every field of an object, however deep, to a value that is not the zero value: a text is the path at which it stands in JSON, or
// a constant of its type where there are any, a number is one that no other field has, a list and a map have one entry.
type filler struct {
	// enums has the constants of the named string types, by import path and name.
	enums map[string][]string
	// elsewhere has the types that are left at their zero value, because another object shows them, and where that is.
	elsewhere map[reflect.Type]string
	// raw says which other kind is in a field that may hold anything, by path.
	raw map[string]string
	// left has the paths of what was left out, and where it is shown instead.
	left map[string]string

	count int
	// under has the types that are being filled, so that one which contains itself ends.
	under map[reflect.Type]bool
}

// instant is in no time zone but UTC and has microseconds, so that it shows which precision a field keeps.
var instant = time.Date(2026, time.November, 22, 10, 30, 0, 123456000, time.UTC)

// next is a moment that no other field has.
func (f *filler) next() time.Time {
	f.count++
	return instant.Add(time.Duration(f.count) * time.Minute)
}

// special fills the types whose JSON is not that of their Go fields.
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

// content is that of a field which may hold anything.
func (f *filler) content(path string) []byte {
	if other, ok := f.raw[path]; ok {
		return fmt.Appendf(nil, `{%q: %q}`, seeKey, other)
	}
	return fmt.Appendf(nil, `{%q: %q}`, anyKey, path)
}

// ownedFields is how a server writes down who has written the count of a workload and a condition's status.
func ownedFields() []byte {
	condition := fieldpath.KeyByFields("type", "ControlPlaneHealthy")
	set := fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("status", "conditions", condition, "status"),
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
		// runtime.Object in types that have an alternative for it; nothing of ours reads one.
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
