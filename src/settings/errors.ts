/** The settings cannot be used as they lie on disk; the message says what the operator can do. */
export class SettingsUnusable extends Error {
  override readonly name = 'SettingsUnusable'
}
