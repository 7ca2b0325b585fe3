package main

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"
)

type KubeconfigCase struct {
	Name string `json:"name"`
	// Texts by file name.
	Files map[string]string `json:"files"`
	// File names as in $KUBECONFIG.
	Load []string `json:"load"`
	// Context as with --context.
	Context string `json:"context"`
}

type KubeconfigVerdict struct {
	// Empty if client-go makes a client of it.
	Error      string `json:"error,omitempty"`
	Server     string `json:"server,omitempty"`
	ServerName string `json:"serverName,omitempty"`
	// ca, system or insecure.
	Trust string `json:"trust,omitempty"`
	// The header that a request gets; exec if a plugin is asked for it.
	Authorization string `json:"authorization,omitempty"`
	// With a client certificate of the kubeconfig.
	Certificate   bool `json:"certificate,omitempty"`
	Impersonation bool `json:"impersonation,omitempty"`
	// Without credentials.
	Proxy string `json:"proxy,omitempty"`
}

func judgeKubeconfig(one KubeconfigCase) KubeconfigVerdict {
	directory, err := os.MkdirTemp("", "kubeconfigs")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(directory)
	// No plugin is found.
	os.Setenv("PATH", directory)
	for name, text := range one.Files {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			fail(err)
		}
	}
	rules := clientcmd.ClientConfigLoadingRules{WarnIfAllMissing: false}
	for _, name := range one.Load {
		rules.Precedence = append(rules.Precedence, filepath.Join(directory, name))
	}
	// As controller-runtime loads it (pkg/client/config).
	overrides := clientcmd.ConfigOverrides{CurrentContext: one.Context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&rules, &overrides).ClientConfig()
	if err == nil {
		_, err = rest.HTTPClientFor(config)
	}
	if err != nil {
		return KubeconfigVerdict{Error: textOf(err, directory)}
	}
	verdict, err := verdictOf(config)
	if err != nil {
		return KubeconfigVerdict{Error: textOf(err, directory)}
	}
	return verdict
}

func textOf(err error, directory string) string {
	// What follows quotes the certificates of the file.
	text, _, _ := strings.Cut(err.Error(), " in list: ")
	return strings.ReplaceAll(text, directory, "~")
}

func verdictOf(config *rest.Config) (KubeconfigVerdict, error) {
	verdict := KubeconfigVerdict{Trust: "system", ServerName: config.ServerName}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return verdict, err
	}
	headers, err := headersOf(config, base)
	if err != nil {
		return verdict, err
	}
	verdict.Authorization = headers.Get("Authorization")
	verdict.Impersonation = headers.Get("Impersonate-User") != ""
	verdict.Certificate = len(config.CertData) > 0 || config.CertFile != ""
	verdict.Server = base.String()
	if len(config.CAData) > 0 || config.CAFile != "" {
		verdict.Trust = "ca"
	}
	if config.Insecure {
		verdict.Trust = "insecure"
	}
	if config.Proxy != nil {
		proxy, err := config.Proxy(&http.Request{URL: &url.URL{Scheme: base.Scheme, Host: base.Host}})
		if err != nil {
			fail(err)
		}
		verdict.Proxy = (&url.URL{Scheme: proxy.Scheme, Host: proxy.Host}).String()
	}
	return verdict, nil
}

type recorder struct{ seen http.Header }

func (recorder *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder.seen = request.Header
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

// Sends a request through everything that client-go wraps around a connection.
func headersOf(config *rest.Config, base *url.URL) (http.Header, error) {
	if config.AuthProvider != nil {
		// It would ask its issuer.
		return http.Header{"Authorization": {"auth provider"}}, nil
	}
	wraps, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	recorder := &recorder{}
	transport, err := transport.HTTPWrappersForConfig(wraps, recorder)
	if err != nil {
		return nil, err
	}
	_, err = transport.RoundTrip(&http.Request{URL: base, Header: http.Header{}})
	if err != nil && strings.HasPrefix(err.Error(), "getting credentials: exec: ") {
		return http.Header{"Authorization": {"exec"}}, nil
	}
	return recorder.seen, err
}
