// Plain CommonJS, so that an old Node can run it.
const major = Number(process.versions.node.split('.')[0])
if (major !== 24) {
  console.error(
    `Delegate runs on Node 24; this is ${process.version} (${process.execPath}).\n` +
      'On Linux (x64, arm64), Node 24 comes with the project: run `npm ci`, then `npm start`.\n' +
      'On any other system, install Node 24 first.',
  )
  process.exit(1)
}
