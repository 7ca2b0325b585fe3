import { render } from 'preact';
import './page.css';
import { App } from './app.tsx';

render(<App />, document.body);
