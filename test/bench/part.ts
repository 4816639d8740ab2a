import { type PartName, parts } from './parts.ts'

/** One part of `npm run bench`, in its own process; prints figures as JSON. */
const [name, root = '', size] = process.argv.slice(2)

await parts[name as PartName]({
  root,
  isQuick: size === 'quick',
  report: (of, figures) => process.stdout.write(`${JSON.stringify([of, figures])}\n`),
})
