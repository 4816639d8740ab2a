import { property } from 'lit/decorators.js'
import { StyledElement } from '../design/styled-element.ts'
import type { App } from './app.ts'

/** An element that has the services of the app. */
export abstract class AppElement extends StyledElement {
  @property({ attribute: false }) app!: App
}
