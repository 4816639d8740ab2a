/** The settings on disk cannot be used. The message says what the operator can do. */
export class SettingsUnusable extends Error {
  override readonly name = 'SettingsUnusable'
}
