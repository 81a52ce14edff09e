"""What a screen shows beyond its text: boxes, buttons, menus, tables, fields, what is selected."""
