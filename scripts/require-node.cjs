// Plain CommonJS, so that an old Node can still read it and say what is wrong.
const major = Number(process.versions.node.split('.')[0])
if (major !== 24) {
  console.error(
    `Delegate runs on Node 24; this is ${process.version} (${process.execPath}).\n` +
      'Node 24 comes with the project: run `npm ci`, then start it through npm (`npm start`), which finds it first.',
  )
  process.exit(1)
}
