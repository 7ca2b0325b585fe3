package main

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

type ProxyCase struct {
	Name string `json:"name"`
	// Environment of the process.
	Env map[string]string `json:"env"`
	URL string            `json:"url"`
}

type ProxyVerdict struct {
	// Empty: none.
	Proxy string `json:"proxy,omitempty"`
	Error string `json:"error,omitempty"`
}

func judgeProxy(one ProxyCase) ProxyVerdict {
	// As httpproxy.FromEnvironment, which reads the environment of this process.
	first := func(names ...string) string {
		for _, name := range names {
			if one.Env[name] != "" {
				return one.Env[name]
			}
		}
		return ""
	}
	config := httpproxy.Config{
		HTTPProxy:  first("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		NoProxy:    first("NO_PROXY", "no_proxy"),
		CGI:        one.Env["REQUEST_METHOD"] != "",
	}
	target, err := url.Parse(one.URL)
	if err != nil {
		fail(err)
	}
	proxy, err := config.ProxyFunc()(target)
	if err != nil {
		return ProxyVerdict{Error: err.Error()}
	}
	if proxy == nil {
		return ProxyVerdict{}
	}
	return ProxyVerdict{Proxy: proxy.String()}
}
