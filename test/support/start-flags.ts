import { readFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const command = /exec env ((?:\S+=\S+ )*)node ((?:--\S+ )*)src\/main\.ts$/.exec(scripts.start)
if (!command) throw new Error('npm start does not start src/main.ts')
const [, variables = '', flags = ''] = command
const parts = (text: string) => text.split(' ').filter((part) => part !== '')

/** The Node flags of `npm start`, so that a measured or tortured service runs like the real one. */
export const startFlags = (): string[] => parts(flags)

/** The environment variables of `npm start`. */
export const startEnvironment = (): Record<string, string> =>
  Object.fromEntries(parts(variables).map((part) => part.split('=', 2)))
