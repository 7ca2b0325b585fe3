package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
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
	// The kinds of credentials.
	Auth []string `json:"auth,omitempty"`
	// Without credentials.
	Proxy string `json:"proxy,omitempty"`
}

func judgeKubeconfig(one KubeconfigCase) KubeconfigVerdict {
	directory, err := os.MkdirTemp("", "kubeconfigs")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(directory)
	for name, text := range one.Files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
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
		return KubeconfigVerdict{Error: strings.ReplaceAll(err.Error(), directory, "~")}
	}
	return verdictOf(config)
}

func verdictOf(config *rest.Config) KubeconfigVerdict {
	verdict := KubeconfigVerdict{Trust: "system", ServerName: config.ServerName, Auth: authOf(config)}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		fail(err)
	}
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
	return verdict
}

func authOf(config *rest.Config) []string {
	var kinds []string
	add := func(kind string, is bool) {
		if is {
			kinds = append(kinds, kind)
		}
	}
	add("token file", config.BearerTokenFile != "")
	add("token", config.BearerTokenFile == "" && config.BearerToken != "")
	add("basic", config.Username != "" || config.Password != "")
	add("certificate", len(config.CertData) > 0 || config.CertFile != "")
	add("exec", config.ExecProvider != nil)
	add("auth provider", config.AuthProvider != nil)
	add("impersonation", config.Impersonate.UserName != "")
	return kinds
}
