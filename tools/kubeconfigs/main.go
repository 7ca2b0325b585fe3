// Reads the cases of test/kubeconfigs as JSON from standard input, and prints what client-go and Go make of each.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

type Cases struct {
	Kubeconfigs []KubeconfigCase `json:"kubeconfigs"`
	Proxies     []ProxyCase      `json:"proxies"`
	Trust       []TrustCase      `json:"trust"`
}

type Verdicts struct {
	// Versions that decide: of the judged modules, and the minor version of Go.
	Versions    map[string]string            `json:"versions"`
	Kubeconfigs map[string]KubeconfigVerdict `json:"kubeconfigs"`
	Proxies     map[string]ProxyVerdict      `json:"proxies"`
	Trust       map[string]TrustVerdict      `json:"trust"`
}

func versions() map[string]string {
	found := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		fail(fmt.Errorf("this program has no build information"))
	}
	parts := strings.SplitN(info.GoVersion, ".", 3)
	found["go"] = strings.Join(parts[:min(2, len(parts))], ".")
	for _, module := range info.Deps {
		if slices.Contains([]string{"k8s.io/client-go", "golang.org/x/net"}, module.Path) {
			found[module.Path] = module.Version
		}
	}
	return found
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func judge[Case any, Verdict any](cases []Case, name func(Case) string, verdict func(Case) Verdict) map[string]Verdict {
	verdicts := map[string]Verdict{}
	for _, one := range cases {
		if _, ok := verdicts[name(one)]; ok {
			fail(fmt.Errorf("two cases have the name %q", name(one)))
		}
		verdicts[name(one)] = verdict(one)
	}
	return verdicts
}

func main() {
	var cases Cases
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&cases); err != nil {
		fail(err)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(Verdicts{
		Versions:    versions(),
		Kubeconfigs: judge(cases.Kubeconfigs, func(one KubeconfigCase) string { return one.Name }, judgeKubeconfig),
		Proxies:     judge(cases.Proxies, func(one ProxyCase) string { return one.Name }, judgeProxy),
		Trust:       judge(cases.Trust, func(one TrustCase) string { return one.Name }, judgeTrust),
	}); err != nil {
		fail(err)
	}
}
