import { processVariables } from '../../src/config.ts'
import { settingKeys, settingRegistry } from '../../src/settings/registry.ts'
import { settingGroups } from '../../src/settings/setting.ts'

/** What each npm script does. The guide cannot be generated for a script without a description. */
const scriptDescriptions: Readonly<Record<string, string>> = {
  start: 'Builds the pages if they are stale, then starts the service.',
  dev: 'Restarts the service when its sources change, and serves the pages with hot reload. For developers.',
  'build:web': 'Builds the pages.',
  test: 'Runs all tests but the long ones.',
  'test:long': 'Runs the long tests.',
  doctor:
    'Checks what protects the service, as its Security page does, and says what to do. Run it as the account of the service and with its environment.',
  halt: 'Halts the delegate, even while the service runs. It is released in the browser.',
  'owner:reset-password':
    'Sets a new password from the shell, ends every session and removes authenticator app, recovery codes and passkeys; `-- --keep-factors` keeps these. Stop the service first. Generates a password if you enter none.',
  check: 'Checks types, format, lint, import boundaries, cycles, file sizes and translations.',
  'check:types': 'Checks only types.',
  'check:lint': 'Checks only format and lint.',
  'check:texts': 'Checks only that every text is translated.',
  texts: 'Collects the texts of the sources into the catalogue of translations. For developers.',
  format: 'Formats the sources.',
  prepack: 'Fills build/ for `npm pack`, which makes a package that installs elsewhere.',
  'docs:guide': 'Regenerates the tables of this guide.',
  'ledger:verify':
    'Verifies the chain of hashes and names the first damaged event. `-- --expect <seq>:<hash>` compares with a head noted elsewhere.',
  'ledger:accept-loss':
    'Accepts and records that events are missing: `-- --events <number>`. Stop the service first.',
  'ledger:replay':
    'Rebuilds all views in a temporary database and compares them with the views in use, row by row.',
  'ledger:export': 'Writes the ledger as JSON Lines: `-- <file>`, or `-- -` for standard output.',
  'ledger:import': 'Creates a ledger from an export in an empty DATA_DIR: `-- <file>`.',
  'ledger:pull':
    'Creates DATA_DIR from the ledger in PostgreSQL: `-- --ledger <id>` if there are several, `-- --detached` if the machine that detached it is lost. See [Beyond one machine](beyond-one-machine.md).',
  'ledger:salvage':
    'Saves what can be read of a damaged ledger: `-- <new directory> --from <backup, export or postgres>`. See [The ledger is damaged](#the-ledger-is-damaged).',
  'engine:init':
    'Creates the tables in PostgreSQL and copies the ledger there. `-- --another-ledger` adds it beside those of others. Stop the service first.',
  'engine:status':
    'Shows the role of this machine, its lag, the ledger in PostgreSQL, who may write, and the other machines.',
  'engine:promote': 'Ends the lease of the holder, so that a standby takes over.',
  'engine:repair': 'Compares this ledger with PostgreSQL. `-- --push-local` adds what PostgreSQL lacks.',
  'engine:detach':
    'Makes DATA_DIR the only home of the ledger again. `-- --without-postgres` if PostgreSQL is lost for good.',
  backup:
    'Makes a verified copy of ledger, settings and adaptation files, even while the service runs: `-- <empty directory>`.',
  restore: 'Restores a backup into an empty DATA_DIR: `-- <directory or file of the backup>`.',
  'script:list-apps': 'Lists the applications of the telephony account and where they point.',
  'script:inspect-app': 'Shows an application: `-- <sid>`, or by default that of TELEPHONY_APP_SID.',
  'script:create-app': 'Creates an application that points to the Public URL, and prints its SID.',
  'script:update-app':
    'Points the application of TELEPHONY_APP_SID to the Public URL, and prints what changed.',
  'script:token':
    'Prints an access token for a voice call as the owner, valid for an hour. Treat it like a password.',
  torture: 'Long tests with kills, power cuts and full disks. For developers.',
  bench: 'Runs the benchmarks. For developers.',
  'bench:recall': 'Measures what recall finds. For developers.',
  'bench:memory': 'Measures what memory keeps and shows after a month. For developers.',
  'bench:web': 'Measures how soon the first page can be used, and how the timeline scrolls. For developers.',
}

const groupNames: Readonly<Record<(typeof settingGroups)[number], string>> = {
  model: 'Model service',
  money: 'Money',
  telephony: 'Telephony',
  rights: 'Rights by phone',
  owner: 'The owner',
  conversation: 'Conversation',
  notifications: 'Notifications',
  delivery: 'Tasks and delivery',
  backups: 'Backups',
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
          const { default: byDefault, description, secret, unit } = settingRegistry[key]
          const value = byDefault === null ? '' : `\`${byDefault}\`${unit === null ? '' : ` ${unit}`}`
          return [`\`${key}\``, value, secret ? `${description} Secret.` : description]
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

/** Throws if a script has no description, or a description no script. */
function scriptsTable(scripts: readonly string[]): string {
  const unknown = scripts.filter((name) => scriptDescriptions[name] === undefined)
  const gone = Object.keys(scriptDescriptions).filter((name) => !scripts.includes(name))
  if (unknown.length + gone.length > 0)
    throw new Error(
      `scripts/lib/operator-tables.ts: add or remove the description of ${[...unknown, ...gone].join(', ')}`,
    )
  return table(
    ['Command', 'What it does'],
    scripts.map((name) => [
      name === 'test' || name === 'start' ? `\`npm ${name}\`` : `\`npm run ${name}\``,
      scriptDescriptions[name] ?? '',
    ]),
  )
}

/** Replaces the generated parts of the guide, between `<!-- begin NAME -->` and `<!-- end NAME -->`. */
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
