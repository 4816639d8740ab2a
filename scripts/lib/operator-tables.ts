import { processVariables } from '../../src/config.ts'
import { settingGroups, settingKeys, settingRegistry } from '../../src/settings/registry.ts'

/** What each npm script does, for who runs the service. A script without words here fails the build of the guide. */
const scriptMeanings: Readonly<Record<string, string>> = {
  start: 'Builds the pages where they are stale, and starts the service.',
  'build:web': 'Builds the pages.',
  test: 'Runs all tests.',
  'owner:reset-password':
    'Sets a new password from the shell and ends every session. Stop the service first. Without input at a terminal it makes one.',
  check: 'Types, format, lint, import boundaries, cycles, file sizes.',
  'check:types': 'The types alone.',
  'check:lint': 'Format and lint alone.',
  format: 'Formats the sources.',
  'docs:guide': 'Writes the tables of this guide anew.',
  'ledger:verify':
    'Walks the chain of hashes and names the first event that is not as it was written. `-- --expect <seq>:<hash>` compares with a head noted elsewhere.',
  'ledger:accept-loss':
    'Goes on without events that are missing, and records that: `-- --events <number>`. Stop the service first.',
  'ledger:replay': 'Folds everything anew, aside, and compares it with the views in use, row by row.',
  'ledger:export': 'Writes the ledger as JSON Lines: `-- <file>`, or `-- -` for standard output.',
  'ledger:import': 'Makes a ledger from an export in an empty DATA_DIR: `-- <file>`.',
  backup: 'An online, verified copy of ledger, settings and adaptation files: `-- <empty directory>`.',
  restore: 'Makes an empty DATA_DIR from a backup: `-- <directory of the backup>`.',
  'script:list-apps': 'Lists the applications of the telephony account, and where they point to.',
  'script:inspect-app': 'Shows one application; without `-- <sid>`, that of TELEPHONY_APP_SID.',
  'script:create-app': 'Creates an application that points to the Public URL, and prints its sid.',
  'script:update-app':
    'Points the application of TELEPHONY_APP_SID to the Public URL, and says what changed.',
  'script:token':
    'Prints an access token for a voice call as the owner, good for an hour. Treat it as a password.',
  torture: 'Long trials with kills, power cuts and full disks. For developers.',
  bench: 'Benchmarks. For developers.',
  'bench:recall': 'Measures what recall finds. For developers.',
  'bench:web': 'Measures how soon the first page can be used, and how the timeline scrolls. For developers.',
}

const groupNames: Readonly<Record<(typeof settingGroups)[number], string>> = {
  model: 'Model service',
  telephony: 'Telephony',
  owner: 'The owner',
  conversation: 'Conversation',
  delivery: 'Tasks and delivery',
  service: 'Network',
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function settingsTables(): string {
  return settingGroups
    .map((group) => {
      const rows = settingKeys
        .filter((key) => settingRegistry[key].group === group)
        .map((key) => {
          const { default: byDefault, description, secret, restart, unit } = settingRegistry[key]
          const value = byDefault === null ? '' : `\`${byDefault}\`${unit === null ? '' : ` ${unit}`}`
          return [
            `\`${key}\``,
            value,
            [description, secret ? 'Secret.' : '', restart ? 'After a restart.' : '']
              .filter(Boolean)
              .join(' '),
          ]
        })
      return `### ${groupNames[group]}\n\n${table(['Setting', 'Default', 'Meaning'], rows)}`
    })
    .join('\n\n')
}

function processTable(): string {
  return table(
    ['Variable', 'Default', 'Meaning'],
    processVariables.map(({ name, default: byDefault, description }) => [
      `\`${name}\``,
      byDefault === null ? '' : `\`${byDefault}\``,
      description,
    ]),
  )
}

/** Throws where a script has no meaning here, or a meaning no script. */
function scriptsTable(scripts: readonly string[]): string {
  const unknown = scripts.filter((name) => scriptMeanings[name] === undefined)
  const gone = Object.keys(scriptMeanings).filter((name) => !scripts.includes(name))
  if (unknown.length + gone.length > 0)
    throw new Error(
      `scripts/lib/operator-tables.ts: say what ${[...unknown, ...gone].join(', ')} does, or leave it out`,
    )
  return table(
    ['Command', 'What it does'],
    scripts.map((name) => [
      name === 'test' || name === 'start' ? `\`npm ${name}\`` : `\`npm run ${name}\``,
      scriptMeanings[name] ?? '',
    ]),
  )
}

/** The guide with its generated parts, those between `<!-- begin NAME -->` and `<!-- end NAME -->`, as they are now. */
export function renderGuide(guide: string, scripts: readonly string[]): string {
  const parts = { settings: settingsTables(), process: processTable(), scripts: scriptsTable(scripts) }
  return Object.entries(parts).reduce((text, [name, content]) => {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`]
    const from = text.indexOf(begin)
    const to = text.indexOf(end)
    if (from < 0 || to < from) throw new Error(`the guide has no place for ${name}`)
    return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`
  }, guide)
}
