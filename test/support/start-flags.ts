import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const delegate = readFileSync(new URL('../../scripts/delegate', import.meta.url), 'utf8')
const command = /^exec env ((?:\S+=\S+ )*)node ((?:--\S+ )*)"\$file"$/m.exec(delegate)
if (!command) throw new Error('scripts/delegate does not start the service')
const [, variables = '', flags = ''] = command
const parts = (text: string) => text.split(' ').filter((part) => part !== '')

/** The Node flags of `delegate start`, so that a measured or tortured service runs like the real one. */
export const startFlags = (): string[] => parts(flags)

/** The environment variables of `delegate start` in a checkout. */
export const startEnvironment = (): Record<string, string> => ({
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/delegate', import.meta.url)),
  ...Object.fromEntries(parts(variables).map((part) => part.split('=', 2))),
})
