import { property } from 'lit/decorators.js'
import { StyledElement } from '../design/styled-element.ts'
import type { App } from './app.ts'
import { Submission } from './submission.ts'

/** An element that has the services of the app. */
export abstract class AppElement extends StyledElement {
  @property({ attribute: false }) app!: App
  /** The state of what the owner sends with this element. */
  protected readonly submission = new Submission(this)
}
