/** A value that changes between runs despite the fixed clock and data. Only the value itself is masked. */
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
    reason: 'depends on the machine',
    paths: /^\/api\/session\/health$/,
    pattern: /"freeBytes":(?:\d+|null)/g,
    replacement: '"freeBytes":"(masked)"',
  },
  {
    name: 'free space in words',
    reason: 'depends on the machine',
    paths: /^\/(?:ready|api\/session\/health)$/,
    pattern: /"disk":\{"ok":(?:true|false)(?:,"detail":"[^"]*")?\}/g,
    replacement: '"disk":"(masked)"',
  },
  {
    name: 'the verification',
    reason: 'ends some seconds after the start',
    paths: /^\/api\/session\/health$/,
    pattern: /,"verified":\{[^}]*\}/g,
    replacement: '',
  },
  {
    name: 'built stylesheets',
    reason: 'exist only if the web app is built, with a digest in their names',
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
