import { css } from 'lit'
import { wideTable } from '../design/wide-table.ts'
import { originStyles } from './origin.ts'

/** Settings cards: a heading, then one row per setting with its text left and its control right. */
export const settingsStyles = css`
  .section {
    margin-bottom: var(--space-5);
    scroll-margin-top: 4rem;
    overflow: clip;
  }
  /* The bar that saves covers neither what is in focus nor an error below it. */
  input,
  select,
  textarea,
  button,
  summary {
    scroll-margin-bottom: 7rem;
  }
  .section > header {
    display: flex;
    align-items: flex-start;
    gap: var(--space-3);
    padding: var(--space-4) var(--space-5);
    border-bottom: 1px solid var(--line);
  }
  .section > header > dg-icon {
    --icon-size: 1.25rem;
    margin-top: 0.2rem;
    color: var(--accent);
  }
  .section h2 {
    font-size: 1rem;
    font-weight: 620;
    line-height: 1.4;
  }
  .section > .body {
    padding: var(--space-4) var(--space-5);
  }
  .setting {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 19rem);
    gap: var(--space-2) var(--space-5);
    padding: var(--space-4) var(--space-5);
  }
  :is(.setting, dg-model-services) + .setting {
    border-top: 1px solid var(--line);
  }
  .setting label {
    font-weight: 550;
  }
  .setting .soft {
    overflow-wrap: anywhere;
  }
  .tag.restart {
    background: var(--warning-soft);
    color: var(--ink);
  }
  ${originStyles}
  ${wideTable}
  .rights :is(th, td) {
    padding: var(--space-4) var(--space-5);
  }
  .rights :is(label, .fixed) {
    font-weight: 550;
  }
  .rights td {
    width: 22rem;
  }
  .rights td .soft {
    margin-top: var(--space-1);
  }
  .origin {
    min-height: 1.5rem;
  }
  .setting.changed,
  .rights .changed {
    background: color-mix(in oklch, var(--accent-soft) 45%, transparent);
  }
  .control {
    display: grid;
    align-content: start;
    gap: var(--space-1);
  }
  .with-unit .input {
    max-width: 9rem;
  }
  @media (min-width: 80rem) {
    .section {
      scroll-margin-top: var(--space-4);
    }
  }
  @media (max-width: 44rem) {
    .section > header,
    .section > .body,
    .setting {
      padding-inline: var(--space-4);
    }
    .setting {
      grid-template-columns: minmax(0, 1fr);
    }
    .rights :is(th, td) {
      width: auto;
      padding: 0;
    }
    .rights tr {
      padding: var(--space-4);
    }
    .rights td {
      margin-top: var(--space-2);
    }
  }
`
