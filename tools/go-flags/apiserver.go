package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// apiServer serves what a manager with one watch and one Lease asks for.
type apiServer struct {
	mutex sync.Mutex
	lease json.RawMessage
}

const (
	coreV1 = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list","watch"]}]}`
	configMaps = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
	notFound   = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
)

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case r.URL.Path == "/api/v1":
		fmt.Fprint(w, coreV1)
	case r.URL.Path == "/api/v1/configmaps":
		fmt.Fprint(w, configMaps)
	case strings.Contains(r.URL.Path, "/leases"):
		s.serveLease(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, notFound)
	}
}

// serveLease is a Lease that nobody holds: each command line starts a manager of its own, which must not wait for the one before.
func (s *apiServer) serveLease(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, notFound)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := json.NewDecoder(r.Body).Decode(&s.lease); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(s.lease)
}

func kubeconfigFor(url string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],
		"users":[{"name":"c","user":{}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"c"}}]}`, url)
}
