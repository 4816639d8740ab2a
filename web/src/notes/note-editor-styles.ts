import { css } from 'lit'

export const noteEditorStyles = css`
  .status {
    white-space: nowrap;
  }
  .editor {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: var(--space-5);
  }
  .write {
    display: grid;
    grid-template-rows: auto minmax(0, 1fr);
    min-height: calc(100dvh - 9rem);
  }
  .title,
  .content {
    width: 100%;
    padding: var(--space-2) 0;
    border: 0;
    border-radius: 0;
    background: none;
    color: var(--ink);
  }
  .title,
  .preview h2 {
    padding: var(--space-2) 0;
    border-bottom: 1px solid var(--line);
    font: 650 var(--text-xl) / 1.3 var(--font);
  }
  .content {
    padding: var(--space-4) 0 var(--space-6);
    font: 400 1rem / 1.65 var(--font);
    resize: none;
    field-sizing: content;
  }
  .title:focus-visible {
    outline: none;
    border-bottom-color: var(--accent);
    box-shadow: 0 1px 0 var(--accent);
  }
  .content:focus-visible {
    outline: none;
  }
  .preview h2 {
    margin-bottom: var(--space-4);
    unicode-bidi: plaintext;
  }
  /* As wide as the indent of an item that wraps. */
  .task input {
    margin-inline: -0.25em 0.4em;
    vertical-align: -0.15em;
  }
  .previewing .write {
    display: none;
  }
  .elsewhere {
    margin-bottom: var(--space-4);
  }
  .actions {
    margin-top: var(--space-3);
  }
  @media (max-width: 40rem) {
    /* No room to show them, but still announced to screen readers. */
    .status,
    .view {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
  }
`
