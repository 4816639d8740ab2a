import { readFileSync } from 'node:fs'

/** The Node flags of `npm start`, so that a measured or tortured service runs like the real one. */
export function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const flags = /node ((?:--\S+ )*)src\/main\.ts$/.exec(scripts.start)?.[1]
  if (flags === undefined) throw new Error('npm start does not start src/main.ts')
  return flags.split(' ').filter((flag) => flag !== '')
}
