import { type PartName, parts } from './parts.ts'

/** One part of `npm run bench`, in the process that `run.ts` started for it; figures go to standard output as JSON. */
const [name, root = '', size] = process.argv.slice(2)

await parts[name as PartName]({
  root,
  isQuick: size === 'quick',
  report: (of, figures) => process.stdout.write(`${JSON.stringify([of, figures])}\n`),
})
