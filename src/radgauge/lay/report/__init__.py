"""Tables and plots of lay studies."""
