"""The folder is the registry: a kind of export is one file here, named after it, with an Exporter."""
