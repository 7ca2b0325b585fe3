// Fails with one line if the development tools do not support this Node: node tools/check-node.mjs
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 12)) {
  const { platform, arch, version } = process;
  process.stderr.write(
    `development needs Node 22.12 or newer: tools/node has none for ${platform}-${arch}, and this machine has ${version}\n`,
  );
  process.exitCode = 1;
}
