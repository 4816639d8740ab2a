/** What no fixed clock and no fixed data can fix. Each takes the value out of the bytes, and leaves the rest. */
type Mask = {
  readonly name: string
  readonly reason: string
  readonly paths: RegExp
  readonly pattern: RegExp
  readonly replacement: string
}

export const masks: readonly Mask[] = [
  {
    name: 'the build',
    reason: 'changes with each release, commit and build',
    paths: /^\/build-info\.json$/,
    pattern: /"(version|commit|builtAt|node)":(?:"[^"]*"|null)/g,
    replacement: '"$1":"(masked)"',
  },
  {
    name: 'free space',
    reason: 'is of the machine',
    paths: /^\/api\/session\/health$/,
    pattern: /"freeBytes":(?:\d+|null)/g,
    replacement: '"freeBytes":"(masked)"',
  },
  {
    name: 'free space in words',
    reason: 'is of the machine',
    paths: /^\/(?:ready|api\/session\/health)$/,
    pattern: /"disk":\{"ok":(?:true|false)(?:,"detail":"[^"]*")?\}/g,
    replacement: '"disk":"(masked)"',
  },
  {
    name: 'built stylesheets',
    reason: 'are there only where the web app is built, under names that hold a digest',
    paths: /^\/notes\//,
    pattern: /<link rel="stylesheet" href="\/assets\/[^"]*">\n?/g,
    replacement: '',
  },
]

export function masked(path: string, text: string): string {
  return masks
    .filter(({ paths }) => paths.test(path))
    .reduce((left, { pattern, replacement }) => left.replace(pattern, replacement), text)
}
