// Sets the exit code 1, after one sentence, if this Node is too old, and exports whether it is new enough. CommonJS on purpose: a Node that is too old must
// still load this file to say so.
'use strict';

const fs = require('fs');
const path = require('path');

const needed = /(\d+)\.(\d+)/.exec(require('../package.json').engines.node);
const found = process.versions.node.split('.');
const distance = Number(found[0]) - Number(needed[1]) || Number(found[1]) - Number(needed[2]);

module.exports = distance >= 0;
if (!module.exports) {
  const tools = path.join(__dirname, '..', 'tools', 'node');
  const pinned = 'node-' + process.platform + '-' + process.arch;
  const isMissing = fs.existsSync(tools) && !fs.existsSync(path.join(tools, 'node_modules', pinned));
  const hint = isMissing ? ', and tools/node has no ' + pinned + ': `make setup` installs it on Linux' : '';
  process.stderr.write(
    'dwd needs Node ' + needed[0] + ' or newer; this is Node ' + process.versions.node + hint + '\n',
  );
  process.exitCode = 1;
}
